<?xml version="1.0" encoding="UTF-8"?>
<!--
  The stylesheet of the Xalan workload: customers with their orders, by key, sorted, with recursive
  templates for the running total, for the word wrap of a note and for a bar. Standard XSLT 1.0 only.
-->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:output method="html" indent="yes" encoding="UTF-8"/>
  <xsl:key name="orders-of" match="order" use="@customer"/>
  <xsl:key name="product" match="product" use="@id"/>

  <xsl:template match="/shop">
    <html>
      <body>
        <xsl:apply-templates select="customer">
          <xsl:sort select="@country"/>
          <xsl:sort select="count(key('orders-of', @id))" data-type="number" order="descending"/>
          <xsl:sort select="name"/>
        </xsl:apply-templates>
      </body>
    </html>
  </xsl:template>

  <xsl:template match="customer">
    <xsl:variable name="mine" select="key('orders-of', @id)"/>
    <h2><xsl:value-of select="concat(name, ' (', @country, ')')"/></h2>
    <table>
      <xsl:apply-templates select="$mine">
        <xsl:sort select="key('product', @product)/@price" data-type="number"/>
        <xsl:sort select="@id" data-type="number"/>
      </xsl:apply-templates>
    </table>
    <p>
      <xsl:text>Total </xsl:text>
      <xsl:call-template name="total">
        <xsl:with-param name="rest" select="$mine"/>
      </xsl:call-template>
    </p>
  </xsl:template>

  <xsl:template match="order">
    <xsl:variable name="product" select="key('product', @product)"/>
    <tr class="{translate($product/@kind, 'abcdefgh', 'ABCDEFGH')}">
      <td><xsl:number value="position()" format="1."/></td>
      <td><xsl:value-of select="$product/title"/></td>
      <td><xsl:value-of select="format-number($product/@price * @count, '#,##0.00')"/></td>
      <td>
        <xsl:call-template name="bar"><xsl:with-param name="n" select="@count"/></xsl:call-template>
      </td>
      <td>
        <xsl:call-template name="wrap"><xsl:with-param name="text" select="normalize-space(note)"/></xsl:call-template>
      </td>
    </tr>
  </xsl:template>

  <xsl:template name="total">
    <xsl:param name="rest"/>
    <xsl:param name="sum" select="0"/>
    <xsl:choose>
      <xsl:when test="$rest">
        <xsl:call-template name="total">
          <xsl:with-param name="rest" select="$rest[position() &gt; 1]"/>
          <xsl:with-param name="sum" select="$sum + $rest[1]/@count * key('product', $rest[1]/@product)/@price"/>
        </xsl:call-template>
      </xsl:when>
      <xsl:otherwise><xsl:value-of select="format-number($sum, '0.00')"/></xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <xsl:template name="wrap">
    <xsl:param name="text"/>
    <xsl:choose>
      <xsl:when test="contains($text, ' ')">
        <xsl:value-of select="substring-before($text, ' ')"/><br/>
        <xsl:call-template name="wrap">
          <xsl:with-param name="text" select="substring-after($text, ' ')"/>
        </xsl:call-template>
      </xsl:when>
      <xsl:otherwise><xsl:value-of select="$text"/></xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <xsl:template name="bar">
    <xsl:param name="n"/>
    <xsl:if test="$n &gt; 0">
      <xsl:text>#</xsl:text>
      <xsl:call-template name="bar"><xsl:with-param name="n" select="$n - 1"/></xsl:call-template>
    </xsl:if>
  </xsl:template>
</xsl:stylesheet>
